// A Velocity template as it was read: plain data, without state of any rendering.

export type Expression =
  | { readonly kind: 'value'; readonly value: string | number | boolean | null }
  | { readonly kind: 'decimal'; readonly text: string }
  /** Text in double quotes that has references or directives. */
  | { readonly kind: 'text'; readonly nodes: readonly Node[] }
  | { readonly kind: 'list'; readonly items: readonly Expression[] }
  | { readonly kind: 'range'; readonly from: Expression; readonly to: Expression }
  | { readonly kind: 'map'; readonly entries: readonly (readonly [Expression, Expression])[] }
  | { readonly kind: 'not' | 'minus'; readonly of: Expression }
  | {
      readonly kind: 'binary'
      readonly operator: Operator
      readonly left: Expression
      readonly right: Expression
    }
  | Reference

export type Operator = '||' | '&&' | '==' | '!=' | '<' | '>' | '<=' | '>=' | '+' | '-' | '*' | '/' | '%'

export type Step =
  | { readonly kind: 'property'; readonly name: string }
  | { readonly kind: 'method'; readonly name: string; readonly args: readonly Expression[] }
  | { readonly kind: 'index'; readonly index: Expression }

export type Reference = {
  readonly kind: 'reference'
  readonly name: string
  readonly steps: readonly Step[]
  /** `$!x`: prints nothing where there is nothing. */
  readonly quiet: boolean
  /** `${x|'none'}`: the value where there is none, or one that counts as false. */
  readonly otherwise?: Expression
  /** As it stands in the source: what it prints as where there is nothing. */
  readonly source: string
  readonly offset: number
}

export type Call = {
  readonly kind: 'call'
  readonly name: string
  readonly args: readonly Expression[]
  /** Of `#@name(…) … #end`. */
  readonly body?: readonly Node[]
  readonly source: string
  readonly offset: number
}

export type Node =
  | string
  | Reference
  | Call
  | { readonly kind: 'set'; readonly target: Reference; readonly value: Expression; readonly offset: number }
  | {
      readonly kind: 'if'
      /** The last may have no condition: `#else`. */
      readonly branches: readonly { readonly condition?: Expression; readonly body: readonly Node[] }[]
      readonly offset: number
    }
  | {
      readonly kind: 'foreach'
      readonly variable: string
      readonly over: Expression
      readonly body: readonly Node[]
      readonly otherwise: readonly Node[]
      readonly offset: number
    }
  | {
      readonly kind: 'define'
      readonly name: string
      readonly body: readonly Node[]
      readonly offset: number
    }
  | { readonly kind: 'parse' | 'include'; readonly names: readonly Expression[]; readonly offset: number }
  | { readonly kind: 'break' | 'stop'; readonly offset: number }

export type Macro = { readonly parameters: readonly string[]; readonly body: readonly Node[] }
