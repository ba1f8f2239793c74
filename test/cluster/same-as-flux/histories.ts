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
}

/** Runs the histories of these seeds on both sides, and compares objects, inventory and Ready after each step that settles. */
export async function compareHistories(seeds: readonly number[]): Promise<Departure[]> {
  const histories = seeds.map(historyOf)
  const { theirs, ours } = await sideBySide(histories.map(({ scenario }) => scenario))
  return histories.flatMap(({ seed, told, settled }, number) => {
    for (const step of [...settled].sort((a, b) => a - b)) {
      const [flux, we] = [
        factsOf(theirs[step]!, placeOf('flux', number)),
        factsOf(ours[step]!, placeOf('ours', number)),
      ]
      const lines = differencesOf(flux.flatMap(endState), we.flatMap(endState))
      if (lines.length === 0) continue
      const said = differencesOf(flux, we).filter(line => / Ready=/.test(line))
      return [{ seed, step, told: told.slice(0, step + 1), lines, said }]
    }
    return []
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
  let different = 0
  for (let at = 0; at < seeds.length; at += AT_ONCE) {
    const departures = await compareHistories(seeds.slice(at, at + AT_ONCE))
    different += departures.length
    for (const one of departures) console.log(JSON.stringify(one, null, 2))
    console.log(`seeds ${seeds[at]} to ${seeds[Math.min(at + AT_ONCE, seeds.length) - 1]}: ${departures.length} differ`)
  }
  console.log(`${cases} histories from seed ${first}: ${different} end differently`)
  process.exitCode = different === 0 ? 0 : 1
}

if (import.meta.main) await main(process.argv.slice(2))
