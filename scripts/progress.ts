import { bar } from '../cli/bar.ts'

/** Reports progress: `done` of `all`, and what is counted. */
export type Progress = (done: number, all: number, what: string) => void

/** A bar that stays in its line on a terminal. Elsewhere it prints a line at intervals and at the end. */
export function progressBar(say: (line: string) => void, stream = process.stderr): Progress {
  return (done, all, what) => {
    if (stream.isTTY) {
      stream.write(`\r\x1b[K${bar(done, all)} ${done} of ${all} ${what}`)
      if (done === all) stream.write('\n')
    } else if (done % 16 === 0 || done === all) say(`${done} of ${all} ${what}`)
  }
}
