// How far an import is, in a file beside the export: what became of accounts, and the migration that is under way.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export type ImportProgress = {
  /** Changes in the tenant from here on are those of the import, and all since. */
  readonly cursor: string
  /** Sent, and not known to have ended. */
  running?: string | undefined
  /** The new locators of accounts, by those of the export. */
  readonly accounts: Record<string, string>
  /** Of policies. */
  readonly policies: Record<string, string>
  /** Accounts of the export whose auxiliary data are written. */
  readonly withAuxData: Record<string, true>
}

export class ProgressFile {
  readonly #path: string
  readonly state: ImportProgress

  /** `cursor` is asked for where there is no file yet. */
  private constructor(path: string, state: ImportProgress) {
    this.#path = path
    this.state = state
  }

  static async open(
    folder: string,
    tenantLocator: string,
    cursor: () => Promise<string>,
  ): Promise<ProgressFile> {
    const path = join(folder, `import-${tenantLocator}.json`)
    if (existsSync(path))
      return new ProgressFile(path, JSON.parse(readFileSync(path, 'utf8')) as ImportProgress)
    const file = new ProgressFile(path, {
      cursor: await cursor(),
      accounts: {},
      policies: {},
      withAuxData: {},
    })
    file.save()
    return file
  }

  save(): void {
    writeFileSync(`${this.#path}.new`, `${JSON.stringify(this.state)}\n`)
    renameSync(`${this.#path}.new`, this.#path)
  }
}
