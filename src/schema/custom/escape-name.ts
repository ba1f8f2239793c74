import { RESERVED } from '../../cel/tokens.ts'

const WORDS = new Set([...RESERVED, 'true', 'false', 'null', 'in'])
const ESCAPES: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
}

/** A field name as CEL rules write it; undefined if no rule can refer to it (k8s.io/apiserver pkg/cel/escaping.go). */
export function escapeName(name: string): string | undefined {
  if (WORDS.has(name)) return `__${name}__`
  if (!/^[A-Za-z_./-][A-Za-z0-9_./-]*$/.test(name)) return undefined
  return name.replace(/__|[./-]/g, part => ESCAPES[part]!)
}
