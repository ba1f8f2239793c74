import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Seconds that a file took, by project and path: files of at least SHORTEST seconds. */
export type Durations = Record<string, Record<string, number>>

export const DURATIONS = join(import.meta.dirname, 'durations.json')

const root = join(import.meta.dirname, '../../..')
const SHORTEST = 2
/** Of a file that is not in the list: it is new, or short. */
const UNKNOWN = SHORTEST - 1

/** These start git some thousand times, and starting a program takes ten times as long in a process that has grown. */
const WHILE_SMALL = /^test\/(?:surface\/cli|base\/git)\//

/**
 * The longest files begin first, so that no core is left with one of them, after those that start many programs; durations of
 * vitest itself do not survive `npm ci`.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const durations: Durations = existsSync(DURATIONS) ? JSON.parse(readFileSync(DURATIONS, 'utf8')) : {}
    const secondsOf = ({ project, moduleId }: TestSpecification) =>
      durations[project.name]?.[relative(root, moduleId)] ?? UNKNOWN
    const rank = ({ moduleId }: TestSpecification) => (WHILE_SMALL.test(relative(root, moduleId)) ? 0 : 1)
    const order = [...new Set((await super.sort(files)).map(({ project }) => project.name))]
    return files.toSorted(
      (a, b) =>
        order.indexOf(a.project.name) - order.indexOf(b.project.name) ||
        rank(a) - rank(b) ||
        secondsOf(b) - secondsOf(a),
    )
  }
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
    durations[project] = Object.fromEntries(long.sort(([a], [b]) => (a < b ? -1 : 1)))
  }
  writeFileSync(DURATIONS, `${JSON.stringify(durations, null, 2)}\n`)
}
