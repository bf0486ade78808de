// A time in readable form, with the exact time as a tooltip.

export function Time({ iso }: { iso: string | null }) {
  if (!iso) return null;
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return <>{iso}</>;
  const short = time.toLocaleString("en-GB", { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });
  return <time dateTime={iso} title={iso}>{short}</time>;
}
