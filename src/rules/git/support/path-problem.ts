/** Characters that macOS overlooks in names (CVE-2014-9390). */
const OVERLOOKED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g
const OVERLOOKED_ONE = new RegExp(OVERLOOKED.source)
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\0-\x1f\x7f-\x9f\u2028\u2029]/
/** `GIT~1`, `KUSTOM~1.YAM`: other names that Windows gives to files with long ones. */
const SHORT_NAME = /^[^.~]{1,6}~\d(?:\.[^.]{0,3})?$/

/** What makes a name of a file print as something else, wherever it stands; undefined for nothing. */
export function disguiseIn(name: string) {
  // what macOS calls the picture of a folder
  if (name === 'Icon\r') return undefined
  if (CONTROL.test(name)) return 'contains a control character'
  if (OVERLOOKED_ONE.test(name)) return 'contains an invisible character'
  return undefined
}

/** What makes a name of a file mean another one to some programs or file systems; undefined for nothing. */
export function problemOf(name: string) {
  const plain = name.replace(OVERLOOKED, '').toLowerCase()
  if (/^(?:\.git|git~\d)(?:[ .]*$|:)/.test(plain)) return "is git's own directory on some file systems"
  const disguise = disguiseIn(name)
  if (disguise) return disguise
  if (name.startsWith('-')) return 'begins with a dash, so programs read it as an option'
  if (name.startsWith('::')) return 'begins like a GitHub Actions command'
  if (/[`\\]/.test(name) || name.includes('$(')) return 'contains a character that shells or Windows interpret'
  if (/[. ]$/.test(name)) return 'ends with a dot or space, which Windows removes'
  if (name.startsWith(' ')) return 'begins with a space'
  if (SHORT_NAME.test(name)) return 'is a Windows short name of another file'
  return undefined
}
