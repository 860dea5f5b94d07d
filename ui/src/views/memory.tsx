export function MemoryView({ id }: { id: number }) { return <p>{id}</p>; }
