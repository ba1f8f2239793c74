/** How the texts that match one pattern relate to those that match another. */
type PatternRelation = 'within' | 'apart' | 'unknown'

/** A pattern of file names: `^`, a text, `.*`, an ending of YAML files and `$`, each of which may be missing. */
const SHAPE =
  /^(\^?)((?:[^.+*?()[\]{}|^$\\\n]|\\[.+*?()[\]{}|^$\\])*?)((?:\.\*)?)((?:\\?\.(?:yaml|ya\?ml|\((?:\?:)?(?:yaml\|yml|yml\|yaml)\)))?)(\$?)$/

function shapeOf(pattern: string) {
  const [all, start, text = '', rest, ending = '', end] = SHAPE.exec(pattern) ?? []
  if (all === undefined) return undefined
  const endsAs = ending === '' ? 'open' : ending.includes('yaml') && !/yml|\?m/.test(ending) ? 'yaml' : 'both'
  const hasDot = !ending.startsWith('.')
  return {
    isAnchored: start === '^',
    text: text.replace(/\\(.)/g, '$1'),
    hasAny: rest !== '',
    endsAs,
    hasDot,
    isWhole: end === '$',
  }
}

/**
 * Whether every text that matches `inner` also matches `outer` (`within`), or none matches both (`apart`). Known for the
 * same pattern, and for the files of a folder, `^FOLDER/.*\.yaml$`, against a pattern of the same kind or a shorter one.
 */
export function comparePatterns(inner: string, outer: string): PatternRelation {
  if (inner === outer) return 'within'
  const [one, other] = [shapeOf(inner), shapeOf(outer)]
  if (!one || !other || !one.isAnchored) return 'unknown'
  const isBelow = one.text.startsWith(other.text)
  if (other.isAnchored && !isBelow && !other.text.startsWith(one.text)) return 'apart'
  const isFound = other.isAnchored ? isBelow : one.text.includes(other.text)
  if (!isFound) return 'unknown'
  // what follows the text in `outer` is found behind it in every text of `inner`
  const isFolder = one.hasAny && one.isWhole
  if (other.endsAs === 'open') return !other.isWhole || (other.hasAny && isFolder) ? 'within' : 'unknown'
  const isOpen = other.hasAny || (other.text === '' && !other.isAnchored)
  const endsAlike = (one.endsAs === 'yaml' || one.endsAs === other.endsAs) && (one.hasDot || !other.hasDot)
  return isFolder && isOpen && endsAlike ? 'within' : 'unknown'
}
