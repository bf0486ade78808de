// A path that wraps after its slashes, rather than within a name.

export function Breakable({ text }: { text: string }) {
  return <>{text.split(/(?<=\/)/).map((part, index) => <>{index > 0 && <wbr />}{part}</>)}</>;
}
