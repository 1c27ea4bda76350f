// All that is loaded when somebody begins to work on a policy.
export { MakeDocumentAgain, RemoveDocument, Upload } from './documents.ts'
export { Endorse } from './endorse.ts'
export { newHolderView, newQuoteView } from './new.ts'
export { notesOf } from './notes.ts'
export { Pay, Reverse } from './payments.ts'
export { SimpleDeed } from './simple.ts'
export { type Prepared, Steps } from './steps.ts'
export { Cancel, Reinstate, Renew } from './transactions.ts'
