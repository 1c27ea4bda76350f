// CPU time that the processes of a group have used.
import { readdirSync, readFileSync } from 'node:fs'

/** Ticks of the kernel's clock are hundredths of a second wherever it tells them. */
const TICK_MS = 10

/**
 * Milliseconds that the processes of the group, or those of that name in it, have used until now, threads included;
 * undefined where the machine has no /proc to tell.
 */
export function groupCpuMs(group: number, name?: string): number | undefined {
  let total: number | undefined
  for (const entry of listed()) {
    const stat = statOf(entry)
    if (!stat) continue
    // What follows the name, which is in brackets and may hold anything: state, parent, group, …
    const close = stat.lastIndexOf(')')
    const fields = stat.slice(close + 2).split(' ')
    if (Number(fields[2]) !== group) continue
    if (name !== undefined && stat.slice(stat.indexOf('(') + 1, close) !== name) continue
    total = (total ?? 0) + (Number(fields[11]) + Number(fields[12])) * TICK_MS
  }
  return total
}

function listed(): string[] {
  try {
    return readdirSync('/proc').filter(entry => /^\d+$/.test(entry))
  } catch {
    return []
  }
}

/** Undefined when the process has ended meanwhile. */
function statOf(process: string): string | undefined {
  try {
    return readFileSync(`/proc/${process}/stat`, 'utf8')
  } catch {
    return undefined
  }
}
