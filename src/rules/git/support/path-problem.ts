/** Characters that macOS overlooks in names (CVE-2014-9390). */
const OVERLOOKED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g
const OVERLOOKED_ONE = new RegExp(OVERLOOKED.source)
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\0-\x1f\x7f-\x9f\u2028\u2029]/
/** `GIT~1`, `KUSTOM~1.YAM`: other names that Windows gives to files with long ones. */
const SHORT_NAME = /^[^.~]{1,6}~\d(?:\.[^.]{0,3})?$/

/** What makes a name of a file print as something else, wherever it stands; undefined for nothing. */
export function disguiseIn(name: string): string | undefined {
  // what macOS calls the picture of a folder
  if (name === 'Icon\r') return undefined
  if (CONTROL.test(name)) return 'holds a control character'
  if (OVERLOOKED_ONE.test(name)) return 'holds a character that is not seen'
  return undefined
}

/** What makes a name of a file mean another one to some programs or file systems; undefined for nothing. */
export function problemOf(name: string): string | undefined {
  const plain = name.replace(OVERLOOKED, '').toLowerCase()
  if (/^(?:\.git|git~\d)(?:[ .]*$|:)/.test(plain)) return "is git's own directory to some file systems"
  const disguise = disguiseIn(name)
  if (disguise) return disguise
  if (name.startsWith('-')) return 'begins with a dash, so that programs take it for an option'
  if (name.startsWith('::')) return 'begins as a command to GitHub Actions does'
  if (/[`\\]/.test(name) || name.includes('$(')) return 'holds a character that shells and Windows give a meaning'
  if (/[. ]$/.test(name)) return 'ends in a dot or blank, which Windows takes away'
  if (name.startsWith(' ')) return 'begins with a blank'
  if (SHORT_NAME.test(name)) return 'is what Windows calls another file'
  return undefined
}
