import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { SLOW } from './slow.ts'

/** Seconds that a file took, by project and path: files of at least SHORTEST seconds. */
export type Durations = Record<string, Record<string, number>>

export const DURATIONS = join(import.meta.dirname, 'durations.json')

const root = join(import.meta.dirname, '../../..')
const SHORTEST = 2
/** The project of a run of quick and slow files. */
export const ALL = 'all'
/** Of a file that is not in the list: it is new, or short. */
const UNKNOWN = SHORTEST - 1

/** These start git some thousand times, and starting a program takes ten times as long in a process that has grown. */
const WHILE_SMALL =
  /^test\/(?:surface\/cli|base\/git|attacks\/command-line|verdict\/fix\/(?:certain-edits|fix-patch)|github\/git\.|tenants\/onboard\/flux-create|rules\/sealed-key-form)/

/**
 * The longest files begin first, so that no core is left with one of them, after those that start many programs; durations of
 * vitest itself do not survive `npm ci`. Slow files, which mostly wait, come between quick ones, so that no core waits with them.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const durations: Durations = existsSync(DURATIONS) ? JSON.parse(readFileSync(DURATIONS, 'utf8')) : {}
    const pathOf = ({ moduleId }: TestSpecification) => relative(root, moduleId)
    const secondsOf = (file: TestSpecification) =>
      durations[partOf(file.project.name, pathOf(file))]?.[pathOf(file)] ?? UNKNOWN
    const rank = (file: TestSpecification) => (WHILE_SMALL.test(pathOf(file)) ? 0 : 1)
    const sorted = (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b) || secondsOf(b) - secondsOf(a))
    // a worker is used again for files of the same project only
    const projects = Map.groupBy(sorted, ({ project }) => project.name)
    return [...projects.values()].flatMap(all => {
      const [slow, quick] = [true, false].map(isSlow => all.filter(file => SLOW.includes(pathOf(file)) === isSlow))
      return alternating(quick!, slow!, secondsOf)
    })
  }
}

/** Where the durations of a file are: the project `all` has those of two others. */
const partOf = (project: string, path: string): string =>
  project === ALL ? (SLOW.includes(path) ? 'slow' : 'quick') : project

/** Both lists in their order, each used up at the same rate of the seconds that it takes. */
export function alternating<T>(one: readonly T[], other: readonly T[], secondsOf: (item: T) => number): T[] {
  const placed = [one, other].flatMap(list => {
    const total = list.reduce((sum, item) => sum + secondsOf(item), 0)
    let before = 0
    return list.map(item => {
      const place = before / total
      before += secondsOf(item)
      return { item, place }
    })
  })
  return placed.toSorted((a, b) => a.place - b.place).map(({ item }) => item)
}

/** `npm run durations` after a whole run writes what vitest has measured to test/repository/runner/durations.json. */
if (import.meta.main) {
  const [results] = globSync('node_modules/.vite/vitest/*/results.json', { cwd: root })
  if (results === undefined) throw new Error('vitest has measured nothing here: run `npm test` first')
  const { projects } = JSON.parse(readFileSync(join(root, results), 'utf8')) as {
    projects: Record<string, { files: Record<string, { duration: number }> }>
  }
  const durations: Durations = {}
  for (const [project, { files }] of Object.entries(projects)) {
    const long = Object.entries(files)
      .map(([file, { duration }]) => [file, Math.round(duration / 1000)] as const)
      .filter(([file, seconds]) => seconds >= SHORTEST && existsSync(join(root, file)))
      .sort(([a], [b]) => (a < b ? -1 : 1))
    for (const [part, entries] of Map.groupBy(long, ([file]) => partOf(project, file))) {
      durations[part] = Object.fromEntries(entries)
    }
  }
  writeFileSync(DURATIONS, `${JSON.stringify(durations, null, 2)}\n`)
}
