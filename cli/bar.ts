const WIDTH = 24

/** `[########................]`: the part of the work that is done. If there is no work, all of it is. */
export function bar(done: number, all: number): string {
  const filled = all === 0 ? WIDTH : Math.floor((WIDTH * done) / all)
  return `[${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}]`
}
