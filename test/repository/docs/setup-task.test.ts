import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type FakeGitHub, startGitHub } from '../../../tools/github/start.ts'
import { followForm } from '../../surface/setup/follow-form.ts'
import { runProgram } from '../../workers/app/run-program.ts'
import { freePort } from '../../workers/queue/start-redis.ts'
import { until } from '../../workers/queue/until.ts'
import { writeClone } from '../../workers/story/write-clone.ts'
import { inTutorial } from './page-worlds.ts'
import { Shell, type Step, stepsOf } from './run-page.ts'

const ROOT = join(import.meta.dirname, '../../..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const page = read('docs/tutorial.md')
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }

/** A text without what is another one each time: the home, free ports, ids, commits and digests, times. */
function steady(text: string, home: string): string {
  return text
    .replaceAll(home, '/home/ada')
    .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:PORT')
    .replaceAll(/\bid \d+/g, 'id N')
    .replaceAll(/\b[\da-f]{7,64}\b/g, 'HASH')
    .replaceAll(/\d{4}-\d\d-\d\d[T ][\d:.]+Z? */g, 'TIME ')
    .trim()
}

/** Lines of the trail in any order, without their numbers: which of the first verdicts is ready first is open. */
const unordered = (trail: string) =>
  trail
    .replaceAll(/^\d+ +(?=TIME)/gm, '')
    .split('\n')
    .sort()

/** A home with the folder of the tutorial and, beside it, the folder that `.env` is written to; and a GitHub with the same repositories. */
async function world() {
  const home = mkdtempSync(join(tmpdir(), 'task-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const shell = new Shell(home)
  inTutorial(shell)
  mkdirSync(join(home, 'bailiwick'))
  const github = await startGitHub({ checkResponses: true })
  onTestFinished(() => github.close())
  github.addOrganization('acme', { admins: ['ada'] })
  await github.signIn('ada')
  for (const name of ['fleet', 'shop', 'blog']) {
    const { output } = shell.run(`git -C '${home}/tutorial/${name}' ls-files`)
    const files = output.split('\n').map(path => [path, readFileSync(join(home, 'tutorial', name, path), 'utf8')])
    github.addRepository({ owner: 'acme', name, files: Object.fromEntries(files), roles: { ada: 'admin' } })
  }
  return { home, github }
}

/** `npm run NAME -- ARGS`, or `npm start`, as the program that package.json names, so that its end is the program's. */
function npmScript(commands: string): readonly string[] {
  const [, name = '', args = ''] = /^npm (?:run )?(\w+)(?: -- (.*))?\n$/.exec(commands)!
  const [node = '', file = ''] = scripts[name]!.split(' ')
  return [node, join(ROOT, file), ...args.split(' ').filter(Boolean)]
}

/** Settings of git with which the address of the fleet leads to a copy of what GitHub has now. */
function cloneable(github: FakeGitHub, folder: string): Record<string, string> {
  const mirror = writeClone(github, 'acme/fleet', folder)
  return {
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: `url.${mirror}.insteadOf`,
    GIT_CONFIG_VALUE_0: 'https://github.com/acme/fleet',
  }
}

test('the commands of docs/tutorial.md that need an App do what the page says, from the form to the trail', async () => {
  const { home, github } = await world()
  const clone = join(home, 'bailiwick')
  const [setup, start, doctor, trail, clusters, none] = stepsOf(page, 'run by test/repository/docs/setup-task.test.ts')
  expect(none).toBeUndefined()
  const base = {
    HOME: home,
    PATH: `${home}/.bin:${process.env.PATH}`,
    GITHUB_API_URL: github.url,
    GIT_CONFIG_GLOBAL: '/dev/null',
  }

  const asked = runProgram(npmScript(setup!.commands), base, clone)
  onTestFinished(() => asked.end())
  await until(() => asked.said().includes('\n'))
  const form = await followForm(/http:\S+/.exec(asked.said())![0])
  expect((await fetch(await form.send())).status).toBe(200)
  expect([await asked.exit, asked.complained()]).toEqual([0, ''])
  expect.soft(steady(asked.said(), home)).toBe(steady(setup!.output, home))

  // the clicks on GitHub, and the proxy behind the public address
  const port = await freePort()
  const app = [...github.world.apps.values()].at(-1)!
  github.install(app, 'acme', 'all', 'ada')
  app.webhookUrl = `http://127.0.0.1:${port}/api/github/webhooks`
  const served = runProgram(npmScript(start!.commands), { ...base, PORT: String(port), FLEETS: 'acme/fleet' }, clone)
  onTestFinished(() => served.end())
  const reports = () => [...github.repositoryNamed('acme/fleet').issues.values()]
  await until(() => reports().length > 0, 60_000)
  expect.soft(reports().map(({ title }) => title)).toEqual([/The issue `([^`]+)`/.exec(page)?.[1]])
  expect.soft(reports()[0]!.body).toContain(/^> (\*\*.+\*\*)$/m.exec(page)![1])

  const play = async (commands: string, folder: string, env: Record<string, string> = {}) => {
    const ran = runProgram(['bash', '-c', commands], { ...base, ...env }, folder)

    return { code: await ran.exit, stderr: ran.complained(), output: steady(ran.said(), home) }
  }
  const expected = ({ code, output }: Step) => ({ code, stderr: '', output: steady(output, home) })
  expect.soft(await play(doctor!.commands, clone, { FLEETS: 'acme/fleet' })).toEqual(expected(doctor!))
  writeFileSync(join(home, 'tutorial/clusters.yaml'), /<<'YAML'\n(clusters:[\s\S]*?)YAML/.exec(page)![1]!)
  expect.soft(await play(clusters!.commands, clone)).toEqual(expected(clusters!))

  const fleet = join(home, 'tutorial/fleet')
  let mirrors = 0
  let shown = { code: null as number | null, stderr: '', output: '' }
  await until(async () => {
    if (!github.repositoryNamed('acme/fleet').refs.has('refs/heads/bailiwick/trail')) return false
    shown = await play(trail!.commands, fleet, cloneable(github, join(home, `acme-fleet-${mirrors++}.git`)))
    return shown.output.includes('\n3 ')
  }, 60_000)
  const { output: trailOnPage, ...rest } = expected(trail!)
  expect.soft({ ...shown, output: unordered(shown.output) }).toEqual({ ...rest, output: unordered(trailOnPage) })
  expect([github.violations, github.unknown, github.responseViolations]).toEqual([[], [], []])
}, 180_000)
