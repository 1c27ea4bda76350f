const ATOM = "[\\p{L}\\p{N}!#$%&'*+/=?^_`{|}~-]+"
const QUOTED = '"(?:[\\x20\\x21\\x23-\\x5b\\x5d-\\x7e]|\\\\[\\x20-\\x7e])+"'
const LABEL = '[\\p{L}\\p{N}](?:[\\p{L}\\p{N}-]{0,61}[\\p{L}\\p{N}])?'
const emailPattern = (): RegExp =>
  new RegExp(`^(?:${ATOM}(?:\\.${ATOM})*|${QUOTED})@${LABEL}(?:\\.${LABEL})+$`, 'u')

/** Made with the first address: a pattern of all alphabets takes a millisecond. */
let email: RegExp | undefined

const LONGEST_EMAIL = 254
const LONGEST_LOCAL_PART = 64

/** An RFC 5321 mailbox, also with letters beyond ASCII (RFC 6531); the domain has at least two labels. */
export function isEmailAddress(text: string): boolean {
  email ??= emailPattern()
  return text.length <= LONGEST_EMAIL && text.lastIndexOf('@') <= LONGEST_LOCAL_PART && email.test(text)
}

const LONGEST_PHONE = 40

/** E.164, or digits with spaces and +()-; 3 to 20 digits (brief 5.2). */
export function isPhoneNumber(text: string): boolean {
  if (text.length > LONGEST_PHONE || !/^[\d ()+-]+$/.test(text)) return false
  const digits = text.replace(/\D/g, '').length
  return digits >= 3 && digits <= 20
}
