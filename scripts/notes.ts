import { renameSync, writeFileSync } from 'node:fs'

/** Writes a JSON file of the data folder as a whole or not at all, so that a crash leaves none that cannot be read. */
export function writeNote(file: string, note: unknown): void {
  writeFileSync(`${file}.new`, JSON.stringify(note))
  renameSync(`${file}.new`, file)
}
