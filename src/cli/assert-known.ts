import { BailiwickError } from '../errors.ts'
import { andMore } from '../message/and-more.ts'
import { closest, probably } from '../message/closest.ts'
import { visible } from '../message/visible.ts'

/** Throws `usage` for a name that is none of `known`, with those that there are. */
export function assertKnown(
  what: 'cluster' | 'tenant' | 'namespace',
  names: readonly string[],
  known: ReadonlySet<string>,
): void {
  for (const name of names) {
    if (known.has(name)) continue
    const there = closest(name, known).sort()
    const more = andMore(known.size - there.length)
    const list = there.length > 0 ? `; there are: ${there.join(', ')}${more}` : `; there is no ${what} in this fleet`
    const meant = probably(name, known)
    const fix =
      meant === undefined
        ? `Name one of them${what === 'namespace' ? '' : `, or leave out --${what}`}.`
        : `Did you mean ${meant}?`
    throw new BailiwickError('usage', `no ${what} ${JSON.stringify(visible(name, 100))}${list}`, { fix })
  }
}
