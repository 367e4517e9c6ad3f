// Chosen is a file that was chosen, and the name by which a knowledge base knows it.
export interface Chosen {
  file: File;
  name: string;
}

// chosenOf names files as "kb import" names those of a folder: by their path inside of it. Of a folder only those with one of the
// endings are taken, since a folder holds others; a file that was chosen by itself is sent, and refused with a reason.
export const chosenOf = (files: Iterable<File>, endings: string): Chosen[] =>
  [...files]
    .map((file) => ({ file, path: file.webkitRelativePath || '' }))
    .filter(({ path }) => !path || reads(path, endings))
    .map(({ file, path }) => ({ file, name: path.split('/').slice(1).join('/') || file.name }));

const reads = (path: string, endings: string) =>
  endings.split(',').some((e) => path.toLowerCase().endsWith(e)) &&
  !path.split('/').some((part) => part.startsWith('.'));
