import type { SourceAccess, SourceDeclaration } from '../model/source-access.ts'

/** Whether two fleets declare the same about their sources. */
export function sameAccess(one: SourceAccess | undefined, other: SourceAccess | undefined): boolean {
  if (one === other) return true
  if (!one || !other) return false
  return (
    sameSets(one.platform, other.platform) &&
    sameSets(one.charts, other.charts) &&
    sameMaps(one.follows, other.follows, (a, b) => a === b) &&
    sameMaps(one.declarations, other.declarations, sameDeclaration)
  )
}

const sameSets = (one: ReadonlySet<string>, other: ReadonlySet<string>): boolean =>
  one.size === other.size && [...one].every(key => other.has(key))

function sameMaps<T>(
  one: ReadonlyMap<string, T>,
  other: ReadonlyMap<string, T>,
  same: (a: T, b: T) => boolean,
): boolean {
  if (one.size !== other.size) return false
  for (const [key, value] of one) {
    const known = other.get(key)
    if (known === undefined || !same(value, known)) return false
  }
  return true
}

function sameDeclaration(a: SourceDeclaration, b: SourceDeclaration): boolean {
  const place = ({ origin }: SourceDeclaration) =>
    JSON.stringify([origin.repository, origin.file, origin.line, origin.column])
  return (
    a.text === b.text &&
    a.tenant === b.tenant &&
    a.node === b.node &&
    a.refused === b.refused &&
    a.adopted === b.adopted &&
    a.gated === b.gated &&
    place(a) === place(b)
  )
}
