// Says in words why a file cannot be read or written.

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of its path is a file',
  EEXIST: 'a file of that name exists',
  ENOSPC: 'the disk is full',
  EACCES: 'permission is denied',
  EPERM: 'permission is denied',
}

/** Returns the end of a sentence about the file: the system's own message if there are no better words. */
export function fileProblem(problem: unknown): string {
  const { code = '', message } = problem as NodeJS.ErrnoException
  return WORDS[code] ?? message
}
