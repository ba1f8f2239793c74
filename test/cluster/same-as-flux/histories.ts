import { missing } from '../status/flux-world.ts'
import { historyOf } from './history.ts'
import { differencesOf, factsOf } from './left-behind.ts'
import { placeOf, sideBySide } from './side-by-side.ts'

const AT_ONCE = 50

/** One history in which the two ended differently; of its first such step. */
export interface Departure {
  readonly seed: number
  readonly step: number
  /** What was done up to there. */
  readonly told: readonly string[]
  readonly lines: readonly string[]
  /** What Ready says where only one of the two is so. */
  readonly said: readonly string[]
  /** Each line is of a difference that docs/worker.md lists: its first column. */
  readonly known?: string
}

const MOVES = 'an object that moves to another Kustomization'

/**
 * Runs the histories of these seeds on both sides, and compares objects, inventory and Ready after each step that settles. Of
 * each history its first departure that is not known, else its first one.
 */
export async function compareHistories(seeds: readonly number[]): Promise<Departure[]> {
  const histories = seeds.map(historyOf)
  const { theirs, ours } = await sideBySide(histories.map(({ scenario }) => scenario))
  return histories.flatMap(({ seed, told, settled, moved }, number) => {
    const found: Departure[] = []
    for (const step of [...settled].sort((a, b) => a - b)) {
      const [flux, we] = [
        factsOf(theirs[step]!, placeOf('flux', number)),
        factsOf(ours[step]!, placeOf('ours', number)),
      ]
      const lines = differencesOf(flux.flatMap(endState), we.flatMap(endState))
      if (lines.length === 0) continue
      const said = differencesOf(flux, we).filter(line => / Ready=/.test(line))
      const known = isMove(lines, moved[step]!) ? { known: MOVES } : {}
      found.push({ seed, step, told: told.slice(0, step + 1), lines, said, ...known })
    }
    return [found.find(({ known }) => known === undefined) ?? found[0]].filter(one => one !== undefined)
  })
}

/** Only of objects that moved, and each that kustomize-controller has is there on our side, too. */
function isMove(lines: readonly string[], moved: ReadonlySet<string>): boolean {
  const nameIn = (line: string) =>
    /^[-+] (?:object configmaps\/|inventory \w+ \w+?(?:-two)?_)(\w+?)(?:__ConfigMap v1$| )/.exec(line)?.[1]
  return lines.every(line => {
    const name = nameIn(line)
    if (name === undefined || !moved.has(name)) return false
    const isMissing = line.startsWith('- object ') && !lines.some(one => one.startsWith(`+ object configmaps/${name} `))
    return !isMissing
  })
}

/** Objects and inventory as they are; of Ready what it says, and not in which words. */
function endState(fact: string): string[] {
  if (/^(object|inventory) /.test(fact)) return [fact]
  const [, ready] = /^(status \S+ Ready=\w+ \w+)/.exec(fact) ?? []
  return ready === undefined ? [] : [ready]
}

/** `--cases 200 --seed 1`. */
async function main(args: readonly string[]): Promise<void> {
  if (missing !== undefined) throw new Error(missing)
  const option = (name: string, otherwise: number) => {
    const at = args.indexOf(`--${name}`)
    return at < 0 ? otherwise : Number(args[at + 1])
  }
  const [cases, first] = [option('cases', 200), option('seed', 1)]
  const seeds = Array.from({ length: cases }, (_, at) => first + at)
  const counts = { known: 0, new: 0 }
  for (let at = 0; at < seeds.length; at += AT_ONCE) {
    const departures = await compareHistories(seeds.slice(at, at + AT_ONCE))
    for (const one of departures) {
      counts[one.known === undefined ? 'new' : 'known']++
      console.log(JSON.stringify(one, null, 2))
    }
    console.log(`seeds ${seeds[at]} to ${seeds[Math.min(at + AT_ONCE, seeds.length) - 1]}: ${departures.length} differ`)
  }
  const listed = `${counts.known} as docs/worker.md lists, ${counts.new} otherwise`
  console.log(`${cases} histories from seed ${first}: ${counts.known + counts.new} end differently, ${listed}`)
  process.exitCode = counts.new === 0 ? 0 : 1
}

if (import.meta.main) await main(process.argv.slice(2))
