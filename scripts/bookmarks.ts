// Time Travel bookmarks: the moment of a database that it can be brought back to, for 30 days.
import type { MigrationTarget } from '../src/platform/database/migrations.ts'
import { jsonOf, type Tool } from './wrangler.ts'

/** Reads the bookmark of a database as it is now. */
export const bookmarkReader =
  (tool: Tool) =>
  async (binding: string): Promise<string> => {
    const { bookmark } = jsonOf<{ bookmark?: string }>(
      await tool('d1', 'time-travel', 'info', binding, '--json'),
    )
    if (!bookmark) throw new Error(`The provider tells no bookmark of ${binding}.`)
    return bookmark
  }

/** The target, whose bookmark is noted before it is first changed; without a bookmark it is not changed. */
export function bookmarked(
  target: MigrationTarget,
  note: (name: string, bookmark: string) => void,
  read: (name: string) => Promise<string>,
): MigrationTarget {
  let noted = false
  return {
    ...target,
    async execute(statements) {
      if (!noted) note(target.name, await read(target.name))
      noted = true
      await target.execute(statements)
    },
  }
}
