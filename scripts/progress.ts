import { bar } from '../cli/bar.ts'

/** Tells how far something is: `done` of `all`, and what that is. */
export type Progress = (done: number, all: number, what: string) => void

/** A bar that stays in its line on a terminal; elsewhere a line now and then, and at the end. */
export function progressBar(say: (line: string) => void, stream = process.stderr): Progress {
  return (done, all, what) => {
    if (stream.isTTY) {
      stream.write(`\r\x1b[K${bar(done, all)} ${done} of ${all} ${what}`)
      if (done === all) stream.write('\n')
    } else if (done % 16 === 0 || done === all) say(`${done} of ${all} ${what}`)
  }
}
