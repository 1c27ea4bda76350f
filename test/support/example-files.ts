// Serves the files of all examples as one module. As a hundred modules, fetched one by one, they would cost each service test
// file a fraction of a second.
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import type { Plugin } from 'vite'

const NAME = 'virtual:example-files'
const ROOT = 'examples'

/**
 * `virtual:example-files`: the contents of all files in `<example>/configuration/`, in base64, by path relative to `examples/`.
 */
export const exampleFilesModule = (): Plugin => ({
  name: 'example-files',
  resolveId: id => (id === NAME ? `\0${NAME}` : undefined),
  load(id) {
    if (id !== `\0${NAME}`) return undefined
    const files = readdirSync(ROOT, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .map(path => [relative(ROOT, path).split(sep).join('/'), path] as const)
      .filter(([name]) => name.split('/')[1] === 'configuration')
      .map(([name, path]) => [name, readFileSync(path).toString('base64')])
    return `export default ${JSON.stringify(Object.fromEntries(files))}`
  },
})
