/** Functions that are called by their name: those of CEL, and of the libraries that Flux loads (sets, encoders, optional). */
const GLOBAL = new Set([
  ...['size', 'int', 'uint', 'double', 'string', 'bool', 'bytes', 'dyn', 'type', 'matches', 'timestamp', 'duration'],
  ...['sets.contains', 'sets.equivalent', 'sets.intersects', 'base64.encode', 'base64.decode'],
  ...['optional.of', 'optional.none', 'optional.ofNonZeroValue', 'strings.quote'],
])

/** Functions that are called on a value: those of CEL, and of its library for strings. */
const METHODS = new Set([
  ...['size', 'contains', 'startsWith', 'endsWith', 'matches'],
  ...['charAt', 'indexOf', 'lastIndexOf', 'join', 'lowerAscii', 'upperAscii', 'replace', 'reverse', 'split'],
  ...['substring', 'trim', 'or', 'orValue', 'hasValue', 'value'],
])

/** Whether a function of that name exists here; `isMethod`: called on a value. */
export function isKnownFunction(name: string, isMethod: boolean): boolean {
  return (isMethod ? METHODS : GLOBAL).has(name)
}
