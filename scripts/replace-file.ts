import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'

/**
 * Writes a file if its text changes. The text is first written to a temporary file next to it, so that a reader sees the old text
 * or the new one but never a part, and a crash leaves one of the two.
 */
export function replaceFile(file: string, text: string): void {
  if (existsSync(file) && readFileSync(file, 'utf8') === text) return
  const written = `${file}.${process.pid}`
  try {
    writeFileSync(written, text)
    renameSync(written, file)
  } catch (problem) {
    rmSync(written, { force: true })
    throw problem
  }
}
