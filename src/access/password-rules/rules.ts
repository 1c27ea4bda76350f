// Rules for all passwords, and the stricter rules of a tenant (resources brief 11).
import { Refusal } from '../../kernel/errors.ts'

/** In characters after NFKC normalisation, which is the form that is hashed. */
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
  /** Number of former passwords that cannot be used again. */
  readonly history: number
  /** After this many days, a password can only be used to choose another. 0 means never. */
  readonly expiryDays: number
}

/** The rules of a tenant that has set none. */
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

/** Whether the password is too old, in real time. If `changedAt` is null, an archive set the password, which is never too old. */
export const isTooOld = (
  { expiryDays }: Pick<PasswordRules, 'expiryDays'>,
  changedAt: number | null,
  now: number,
): boolean => expiryDays > 0 && changedAt !== null && now - changedAt >= expiryDays * DAY_MS

export type PasswordOwner = { readonly username: string; readonly email: string | null }

/** Returns each problem as the end of a sentence. None contains the password. */
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
    [
      rules.special && !/[^\p{L}\p{N}]/u.test(text),
      'must have a character that is neither a letter nor a digit',
    ],
    [
      [username, email ?? ''].some(name => name !== '' && lower === name.normalize('NFKC').toLowerCase()),
      'must not be the user name or the e-mail address',
    ],
    [isCommonPassword(text), 'must not be a common password, because attackers try those first'],
  ]
  return checks.filter(([isBroken]) => isBroken).map(([, rule]) => rule)
}

/** Throws 400 with every rule that the password breaks. */
export async function requireGoodPassword(
  password: string,
  rules: PasswordRules,
  owner: PasswordOwner,
): Promise<void> {
  const problems = await passwordProblems(password, rules, owner)
  if (problems.length > 0)
    throw new Refusal('weakPassword', `The password ${problems.join('; it ')}. Choose another.`)
}
