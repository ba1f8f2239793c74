import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { parseArgs } from 'node:util'
import { main } from '../src/cli/main.ts'
import { TRAIL_BRANCH } from '../src/trail/trail-files.ts'
import { verifyTrail } from '../src/trail/verify-trail.ts'
import { startStage } from '../test/story/stage.ts'
import { writeClone } from '../test/story/write-clone.ts'
import { record } from './figures.ts'
import { REPOSITORY, storyOf } from './soak/story.ts'

// The pushes of the soak with a trail, until it has so many verdicts. Each is then made again by the command line from clones.
// The exit code is 1 where one is another, or could not be made again.
const { values } = parseArgs({ options: { verdicts: { type: 'string' }, seed: { type: 'string' } } })
const VERDICTS = Number(values.verdicts ?? 200)
const PULLS = 40
const FLEET = 'acme/fleet'

const stage = await startStage({ settings: { TRAIL: 'on' }, logLevel: 'silent' })
const folder = mkdtempSync(join(tmpdir(), 'bailiwick-bench-replay-'))
const { github } = stage

const verdicts = () =>
  verifyTrail(
    github
      .filesOf(FLEET, TRAIL_BRANCH)
      .map(path => ({ path, bytes: Buffer.from(github.readFile(FLEET, TRAIL_BRANCH, path) ?? '') })),
  ).entries.filter(({ kind }) => kind === 'verdict')

/** Every tenth push goes to the base: test merges of what is open differ from their heads then. */
async function grow(): Promise<void> {
  let pushes = 0
  for (const { branch, files } of storyOf(Number(values.seed ?? 1), VERDICTS * 10, PULLS)) {
    if (verdicts().length >= VERDICTS) return
    const isNew = !github.pullRequestsOf(REPOSITORY).some(pull => pull.head.ref === branch)
    const parent = isNew ? { parent: github.commitOf(REPOSITORY, 'main') } : {}
    github.push({ repo: REPOSITORY, branch, files, as: 'dora', ...parent })
    if (isNew) github.openPullRequest({ repo: REPOSITORY, head: branch, title: branch, as: 'dora' })
    if (++pushes % 10 === 0) {
      const docs = { [`docs/${pushes}.md`]: `${pushes}\n` }
      github.push({ repo: REPOSITORY, branch: 'main', files: docs, as: 'ada' })
    }
    await stage.settle()
  }
}

async function replayed(entry: number): Promise<{ code: number; said: string }> {
  let said = ''
  const write = (text: string) => {
    said += text
  }
  const io = { stdout: write, stderr: write, stdin: Readable.from([]), cwd: join(folder, 'fleet') }
  return { code: await main(['replay', String(entry), '--repos-dir', folder], io), said }
}

try {
  await stage.settle()
  await grow()
  for (const repo of ['fleet', 'dev-team', 'ops-team']) writeClone(github, `acme/${repo}`, join(folder, repo))
  const started = performance.now()
  const all = verdicts().slice(0, VERDICTS)
  const codes = new Map<number, number>()
  for (const { seq } of all) {
    const { code, said } = await replayed(seq)
    codes.set(code, (codes.get(code) ?? 0) + 1)
    if (code !== 0) process.stdout.write(said)
  }
  const results = Map.groupBy(all, ({ result, inputs }) => `${result} ${inputs?.kind}`)
  const told = [...results].map(([name, of]) => `${name}: ${of.length}`).join(', ')
  record({ name: 'one verdict', wall: (performance.now() - started) / all.length })
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  process.stdout.write(`${all.length} verdicts (${told}) replayed in ${seconds} s\n`)
  process.stdout.write(`same ${codes.get(0) ?? 0}, another ${codes.get(1) ?? 0}, refused ${codes.get(2) ?? 0}\n`)
  process.exitCode = all.length >= VERDICTS && codes.get(0) === all.length ? 0 : 1
} finally {
  await stage.close()
  rmSync(folder, { recursive: true, force: true })
}
