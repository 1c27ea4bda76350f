// Makes tests write to memory if the machine has a folder for that. A database waits for the disk at every commit, which is most
// of what many tests do. That no data is lost when a process dies does not depend on the disk.
import { mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
const PREFIX = 'bindery-tests-'

/** Ten times what all tests of a run write simultaneously. */
const LEAST_BYTES = 4 * 2 ** 30

/** Whether programs can be started from the folder. */
function startsPrograms(): boolean {
  const [, options = ''] =
    readFileSync('/proc/mounts', 'utf8').match(new RegExp(`^\\S+ ${MEMORY} \\S+ (\\S+)`, 'm')) ?? []
  return options !== '' && !options.split(',').includes('noexec')
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    return Math.min(bavail * bsize, process.availableMemory()) >= LEAST_BYTES && startsPrograms()
  } catch {
    return false
  }
}

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Uses a folder in memory for temporary files until this process ends. TMPDIR overrides it. */
export function useMemoryFolder(): void {
  if (process.env.TMPDIR !== undefined || !hasRoom()) return
  // Remove the folders of runs that were killed.
  for (const name of readdirSync(MEMORY))
    if (name.startsWith(PREFIX) && !isRunning(Number(name.slice(PREFIX.length))))
      rmSync(join(MEMORY, name), { recursive: true, force: true })
  const folder = join(MEMORY, PREFIX + process.pid)
  mkdirSync(folder, { mode: 0o700 })
  process.env.TMPDIR = folder
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
}
