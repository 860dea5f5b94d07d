// Which recordings the files are that were dropped or chosen: a file alone, or the files of a rosbag2 folder.

/** A file with its path within what was dropped, such as bag/bag_0.db3. */
export interface Dropped {
  path: string;
  file: File;
}

/** What is imported as one. */
export interface Recording {
  name: string;
  folder: boolean;
  files: File[];
  size: number;
}

const metadata = "metadata.yaml";
const extension = /\.(mcap|db3|bag|ulg)(\.active)?(\.zstd?)?$/i;

/**
 * Groups files by their folders. A folder with a metadata.yaml is one recording; in others each file with the name of
 * a recording is one. Files without a folder are taken whatever their name, because their bytes decide.
 */
export function recordingsOf(all: Dropped[]): Recording[] {
  const folders = new Map<string, Dropped[]>();
  for (const one of all) {
    const folder = one.path.split("/").slice(0, -1).join("/");
    folders.set(folder, [...(folders.get(folder) ?? []), one]);
  }

  return [...folders].flatMap(([folder, files]) => {
    if (files.some(({ file }) => file.name === metadata)) return [together(folder, files)];
    const taken = folder ? files.filter(({ file }) => extension.test(file.name)) : files;
    return taken.map(({ file }) => ({ name: file.name, folder: false, files: [file], size: file.size }));
  });
}

function together(folder: string, files: Dropped[]): Recording {
  const parts = files.filter(({ file }) => file.name === metadata || extension.test(file.name)).map(({ file }) => file);
  const first = parts.find((file) => file.name !== metadata);
  const name = folder.split("/").at(-1) || (first?.name.replace(extension, "").replace(/_0$/, "") ?? "recording");
  return { name, folder: true, files: parts, size: parts.reduce((sum, file) => sum + file.size, 0) };
}

/** What a drop carries: files, and the files within folders. It is read before the event ends. */
export function droppedFiles(transfer: DataTransfer): Promise<Dropped[]> {
  const entries = [...transfer.items].filter((i) => i.kind === "file").map((i) => ({ entry: i.webkitGetAsEntry?.(), file: i.getAsFile() }));
  return Promise.all(entries.map(({ entry, file }) => (entry?.isDirectory ? within(entry as FileSystemDirectoryEntry) : file ? [{ path: file.name, file }] : []))).then(
    (lists) => lists.flat(),
  );
}

const mostFiles = 2000; // of a folder; what has more is no recording

async function within(folder: FileSystemDirectoryEntry): Promise<Dropped[]> {
  const out: Dropped[] = [];
  const waiting: FileSystemDirectoryEntry[] = [folder];
  for (let next = waiting.pop(); next && out.length < mostFiles; next = waiting.pop()) {
    const reader = next.createReader();
    for (;;) {
      // A call returns a part of the entries, none at the end.
      const part = await new Promise<FileSystemEntry[]>((done, fail) => reader.readEntries(done, fail));
      if (part.length === 0) break;
      for (const entry of part) {
        if (entry.isDirectory) waiting.push(entry as FileSystemDirectoryEntry);
        else out.push({ path: entry.fullPath.slice(1), file: await new Promise<File>((done, fail) => (entry as FileSystemFileEntry).file(done, fail)) });
      }
    }
  }
  return out;
}
