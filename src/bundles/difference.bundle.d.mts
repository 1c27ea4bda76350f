// Types of the built file; the file itself is made by `npm run config`.
export {
  bindingChanges,
  configurationChanges,
  fileChanges,
  inOrder,
} from '../product/difference/configurations.ts'
