// Ends the processes of tenant code when the one that started them is gone, however it ended. A process that runs tenant code cannot see to it:
// a function of the language can run for hours, and a second thread would be a quarter of its start.
import { spawn } from 'node:child_process'
import type { Socket } from 'node:net'

/** Each line has the processes that live now. The pipe ends with the one that writes. */
const PROGRAM = 'while read -r living; do last=$living; done; kill -9 $last'

const guarded = new Set<number>()
let pipe: Socket | undefined

/** Begins to guard the process. */
export function guard(pid: number): void {
  guarded.add(pid)
  tell()
}

/** For a process that has ended: its number may be another's soon. */
export function unguard(pid: number): void {
  guarded.delete(pid)
  if (pipe) tell()
}

function tell(): void {
  pipe ??= start()
  pipe.write(`${[...guarded].join(' ')}\n`)
}

/** A session of its own: what a terminal ends does not end it first. */
function start(): Socket {
  const child = spawn('/bin/sh', ['-c', PROGRAM], {
    detached: true,
    env: {} as NodeJS.ProcessEnv,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  const forget = (): void => {
    pipe = undefined
  }
  // Where there is no shell, nothing is guarded.
  child.on('error', forget)
  child.on('exit', forget)
  child.stdin.on('error', forget)
  child.unref()
  const own = child.stdin as unknown as Socket
  own.unref()
  return own
}
