// A lock beside a protected label.
export function Lock({ label }: { label: string }) {
  const about = `The label ${label} is protected: only a token with the right “admin” can move it`;
  return (
    <svg class="lock" viewBox="0 0 16 16" role="img" aria-label="protected">
      <title>{about}</title>
      <path d="M5 7V5a3 3 0 0 1 6 0v2M4 7h8v6H4z" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linejoin="round" />
    </svg>
  );
}
