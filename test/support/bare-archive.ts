// The archive of the motor example without documents, for tests on Node that are not about documents: generating them takes
// longer than everything else. The product is not strict, because a strict product rejects fields that only documents use.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { zipSync } from 'fflate'

const CONFIGURATION = 'examples/motor/configuration'

export function bareArchive(): Blob {
  const files = readdirSync(CONFIGURATION, { recursive: true, withFileTypes: true }).filter(
    one => one.isFile() && !/\.template\.liquid$|static_documents/.test(join(one.parentPath, one.name)),
  )
  const entries = files.map(({ parentPath, name }) => {
    const path = join(parentPath, name)
    const bare = /(policy|endorsements|renewals|cancellations)\.json$/.test(path)
      ? JSON.stringify(
          JSON.parse(readFileSync(path, 'utf8'), (key, value) =>
            key === 'documents' ? [] : key === 'strict' ? false : value,
          ),
        )
      : undefined
    const content = bare === undefined ? readFileSync(path) : new TextEncoder().encode(bare)
    return [path.slice(CONFIGURATION.length + 1).replaceAll('\\', '/'), new Uint8Array(content)]
  })
  return new Blob([new Uint8Array(zipSync(Object.fromEntries(entries)))], { type: 'application/zip' })
}
