const WIDTH = 24

/** `[########................]`: how much of all is done; of nothing, all is. */
export function bar(done: number, all: number): string {
  const filled = all === 0 ? WIDTH : Math.floor((WIDTH * done) / all)
  return `[${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}]`
}
