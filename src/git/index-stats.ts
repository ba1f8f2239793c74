import { type BigIntStats, lstatSync } from 'node:fs'
import { askGit } from './run-git.ts'

/** Ids of tracked files that are as git left them, so that nothing of them has to be read to know them. */
export type KnownIds = (path: string, stats: BigIntStats) => string | undefined

const ENTRY =
  /^H (?:100644|100755|120000) ([0-9a-f]{40}) 0\t([^\0]*)\0 {2}ctime: (\d+):(\d+)\n {2}mtime: (\d+):(\d+)\n {2}dev: \d+\tino: (\d+)\n {2}uid: \d+\tgid: \d+\n {2}size: (\d+)\tflags: [0-9a-f]+$/

interface Stat {
  readonly id: string
  readonly ctime: bigint
  readonly mtime: bigint
  readonly ino: bigint
  readonly size: bigint
}

/**
 * What the index says about files that were not touched since git wrote them: times to the nanosecond, inode and size are what
 * git noted, before it wrote the index. Everything else, or an index in another form, is not known and is read instead.
 */
export async function indexStats(dir: string, index: string): Promise<KnownIds> {
  const stats = new Map<string, Stat>()
  const listing = (await askGit(dir, ['ls-files', '--stage', '-t', '-z', '--debug']))?.toString() ?? ''
  const written = lstatSync(index, { bigint: true, throwIfNoEntry: false })?.mtimeNs
  if (!written) return () => undefined
  for (const record of listing.split(/\n(?=[A-Za-z?] \d{6} )/)) {
    const match = ENTRY.exec(record.replace(/\n$/, ''))
    if (!match) continue
    const [, id = '', path = '', cs = '', cn = '', ms = '', mn = '', ino = '', size = ''] = match
    const time = (seconds: string, nanoseconds: string) => BigInt(seconds) * 1_000_000_000n + BigInt(nanoseconds)
    stats.set(path, { id, ctime: time(cs, cn), mtime: time(ms, mn), ino: BigInt(ino), size: BigInt(size) })
  }
  return (path, now) => {
    const was = stats.get(path)
    if (!was || was.mtime >= written) return undefined
    const isSame =
      was.mtime === now.mtimeNs &&
      was.ctime === now.ctimeNs &&
      (was.ino & MASK) === (now.ino & MASK) &&
      was.size === (now.size & MASK)
    return isSame ? was.id : undefined
  }
}

/** The index has 32 bits for each. */
const MASK = 0xffff_ffffn
