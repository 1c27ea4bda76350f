// `bindery/client`: the typed client of the service, for Node, Workers and browsers (docs/client.md).
export { type BinderyClient, type ClientOptions, createClient } from './client.ts'
export type * from './contract.ts'
export { BinderyError, type Problem, type ProblemCode } from './problem.ts'
export type { Retry } from './retry.ts'
export type { OwnToken, SignIn } from './session.ts'
