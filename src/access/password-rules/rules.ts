// Rules for all passwords, and stricter ones of a tenant (resources brief 11).
import { Refusal } from '../../kernel/errors.ts'

/** In characters after NFKC normalisation, as it is hashed. */
export const SHORTEST_PASSWORD = 12
export const LONGEST_PASSWORD = 256

export type PasswordRules = {
  readonly minimumLength: number
  readonly maximumLength: number
  /** Whether at least one is required. */
  readonly digit: boolean
  readonly upper: boolean
  readonly lower: boolean
  readonly special: boolean
  /** How many former passwords cannot be used again. */
  readonly history: number
  /** After this many days a password can only be used to choose another; 0 means never. */
  readonly expiryDays: number
}

/** For a tenant without rules. */
export const PLAIN_RULES: PasswordRules = {
  minimumLength: SHORTEST_PASSWORD,
  maximumLength: LONGEST_PASSWORD,
  digit: false,
  upper: false,
  lower: false,
  special: false,
  history: 0,
  expiryDays: 0,
}

/** The brief's stricter rules: the defaults for a tenant that sets rules. */
export const STRICT_RULES: PasswordRules = {
  minimumLength: 16,
  maximumLength: 64,
  digit: true,
  upper: true,
  lower: true,
  special: true,
  history: 4,
  expiryDays: 90,
}

const DAY_MS = 86_400_000

/** In real time. Null `changedAt`: an archive set the password, and it is never too old. */
export const isTooOld = (
  { expiryDays }: Pick<PasswordRules, 'expiryDays'>,
  changedAt: number | null,
  now: number,
): boolean => expiryDays > 0 && changedAt !== null && now - changedAt >= expiryDays * DAY_MS

export type PasswordOwner = { readonly username: string; readonly email: string | null }

/** Each problem is the end of a sentence; none contains the password. */
export async function passwordProblems(
  password: string,
  rules: PasswordRules,
  { username, email }: PasswordOwner,
): Promise<string[]> {
  const text = password.normalize('NFKC')
  const length = [...text].length
  const lower = text.toLowerCase()
  const { isCommonPassword } = await import('./common.ts')
  const checks: readonly [boolean, string][] = [
    [length < rules.minimumLength, `must have at least ${rules.minimumLength} characters`],
    [length > rules.maximumLength, `must have at most ${rules.maximumLength} characters`],
    [rules.digit && !/\p{Nd}/u.test(text), 'must have a digit'],
    [rules.upper && !/\p{Lu}/u.test(text), 'must have an upper-case letter'],
    [rules.lower && !/\p{Ll}/u.test(text), 'must have a lower-case letter'],
    [rules.special && !/[^\p{L}\p{N}]/u.test(text), 'must have a character that is no letter and no digit'],
    [
      [username, email ?? ''].some(name => name !== '' && lower === name.normalize('NFKC').toLowerCase()),
      'must not be the user name or the e-mail address',
    ],
    [isCommonPassword(text), 'must not be a common password: it is among those that are tried first'],
  ]
  return checks.filter(([isBroken]) => isBroken).map(([, rule]) => rule)
}

/** 400 with every rule that the password breaks. */
export async function requireGoodPassword(
  password: string,
  rules: PasswordRules,
  owner: PasswordOwner,
): Promise<void> {
  const problems = await passwordProblems(password, rules, owner)
  if (problems.length > 0)
    throw new Refusal('weakPassword', `The password ${problems.join('; it ')}. Choose another.`)
}
