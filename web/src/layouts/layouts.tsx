export function Layouts() { return <main/>; }
