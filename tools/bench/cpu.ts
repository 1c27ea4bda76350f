// CPU time used by the processes of a group.
import { readdirSync, readFileSync } from 'node:fs'

/** The kernel reports its ticks in hundredths of a second. */
const TICK_MS = 10

type ListedProcess = {
  readonly pid: number
  readonly parent: number
  readonly group: number
  readonly name: string
  readonly ticks: number
}

/** Returns the running processes. Empty if the machine has no /proc. */
export function listedProcesses(): ListedProcess[] {
  return processIds().flatMap(entry => {
    const stat = statOf(entry)
    if (!stat) return []
    // The fields after the name, which is in brackets and may contain any character: state, parent, group, …
    const close = stat.lastIndexOf(')')
    const fields = stat
      .slice(close + 2)
      .split(' ')
      .map(Number)
    const name = stat.slice(stat.indexOf('(') + 1, close)
    return [
      { pid: Number(entry), parent: fields[1]!, group: fields[2]!, name, ticks: fields[11]! + fields[12]! },
    ]
  })
}

/**
 * Returns the CPU milliseconds that the processes of the group, or those of that name in it, have used so far, including threads.
 * Undefined if the machine has no /proc.
 */
export function groupCpuMs(group: number, name?: string): number | undefined {
  const own = listedProcesses().filter(
    one => one.group === group && (name === undefined || one.name === name),
  )
  return own.length === 0 ? undefined : own.reduce((sum, { ticks }) => sum + ticks * TICK_MS, 0)
}

function processIds(): string[] {
  try {
    return readdirSync('/proc').filter(entry => /^\d+$/.test(entry))
  } catch {
    return []
  }
}

/** Undefined if the process has ended meanwhile. */
function statOf(process: string): string | undefined {
  try {
    return readFileSync(`/proc/${process}/stat`, 'utf8')
  } catch {
    return undefined
  }
}
