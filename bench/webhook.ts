import { parseArgs } from 'node:util'
import { GITHUB_PACE } from '../src/github/client/client-class.ts'
import { CHECK_NAME } from '../src/verdict/check-names.ts'
import { record } from './figures.ts'
import { quantile } from './growth.ts'
import { type AppProcesses, openAppProcesses } from './webhook/app-processes.ts'
import { type Acknowledged, Load, limit, steady } from './webhook/load.ts'

// How soon a delivery is acknowledged, how soon its verdict stands on GitHub, and what that asks of GitHub: a web process
// and a worker process on a real Redis, a GitHub of ours in this process (its time counts here, and is not GitHub's).
const { values } = parseArgs({ options: { smoke: { type: 'boolean' } } })
const SECONDS = values.smoke ? 1 : 15
const PUSHES = values.smoke ? 3 : 60
const PAYLOAD_BYTES = 20_000

const ms = (time: number): string => `${time.toFixed(1)} ms`
const quantiles = (times: readonly number[]) =>
  [0.5, 0.95, 0.99].map(part => `p${part * 100} ${ms(quantile(times, part))}`).join(', ')

function say(what: string, { times, failed, perSecond }: Acknowledged): void {
  if (failed > 0) throw new Error(`${what}: ${failed} deliveries were not accepted`)
  record({ name: what, wall: quantile(times, 0.5) })
  console.log(
    `${what}: ${times.length} deliveries, ${Math.round(perSecond)}/s, ${quantiles(times)}, ${failed} not accepted`,
  )
}

async function acknowledge({ github, web, settle }: AppProcesses): Promise<void> {
  const [installation] = [...github.world.installations.values()]
  const payload = {
    deleted: false,
    installation: { id: installation!.id },
    repository: { name: 'dev-team', full_name: 'acme/dev-team', owner: { login: 'acme' } },
    sender: { login: 'dora', type: 'User' },
    commits: 'x'.repeat(PAYLOAD_BYTES),
  }
  const open = () => new Load(web, github.app.webhookSecret, payload)
  const first = open()
  await steady(first, 50, 1)
  say('acknowledged at 200/s', await steady(first, 200, SECONDS))
  first.close()
  await settle()
  // connections that rested longer than the server keeps them would fail
  const load = open()
  say('acknowledged at the limit, 32 clients', await limit(load, 32, SECONDS))
  load.close()
  await settle()
}

/** One push after the other to an open pull request of a tenant: from the push until its check run is completed. */
async function verdicts({ github, settle }: AppProcesses): Promise<void> {
  const repo = 'acme/dev-team'
  const deployment = github.readFile(repo, 'main', 'base/deployment.yaml')
  const push = (run: number) =>
    github.push({
      repo,
      branch: 'bench',
      files: { 'base/deployment.yaml': deployment.replace(':1.4.0', `:1.5.${run + 1}`) },
      as: 'dora',
    })
  push(-1)
  github.openPullRequest({ repo, head: 'bench', base: 'main', title: 'Bench', as: 'dora' })
  await settle()
  const times: number[] = []
  const without: number[] = []
  for (let run = 0; run < PUSHES; run++) {
    if (run === Math.floor(PUSHES / 3)) github.forget()
    const before = github.requests.length
    push(run)
    const start = performance.now() // what git does is GitHub's own; the deliveries begin now
    const done = () =>
      github.checkRunsOf(repo, 'bench').some(one => one.name === CHECK_NAME && one.status === 'completed')
    while (!done()) await new Promise(resolve => setTimeout(resolve, 1))
    const time = performance.now() - start
    const check = github.checkRunsOf(repo, 'bench').find(one => one.name === CHECK_NAME)
    if (check?.conclusion !== 'success') throw new Error(`the verdict is ${check?.conclusion}: ${check?.output?.title}`)
    times.push(time)
    without.push(time - github.requests.slice(before).reduce((sum, { ms }) => sum + ms, 0))
    await settle()
  }
  const [whole, own] = [quantile(times, 0.5), quantile(without, 0.5)]
  record({ name: 'push to verdict', wall: whole, ratio: own / whole, to: 'the same with what GitHub takes' })
  console.log(`push -> verdict said, ${times.length} pushes: ${quantiles(times)}`)
  console.log(`  without what the GitHub of ours took to answer: ${quantiles(without)}`)
  const runs = PUSHES - Math.floor(PUSHES / 3)
  const total = github.requests.length / runs
  console.log(
    `GitHub requests per push to a pull request (its push and its pull_request are a job each): ${total.toFixed(1)}`,
  )
  const counting = github.requests.filter(({ status }) => status !== 304)
  const counted = (some: readonly { readonly status: number }[]) =>
    some.filter(({ status }) => status !== 304).length / runs
  const writes = counting.filter(({ method, route }) => method !== 'GET' && !route.includes('access_tokens')).length
  console.log(
    `  ${(counting.length / runs).toFixed(1)} count against GitHub's limit (the others are answered with 304), ` +
      `${(writes / runs).toFixed(1)} write`,
  )
  // test/github/adapter/write-turns.test.ts lets such writes go by the clock
  const { writeMs, anHour } = GITHUB_PACE
  const [aMinute, inHour] = [60_000 / writeMs, anHour].map(most => Math.floor((most * runs) / writes))
  console.log(`  at the pace of GitHub's limits: ${aMinute} verdicts a minute, ${inHour} an hour`)
  // what each may be at most, or is at least
  record({ name: 'requests of a push that count', ratio: counting.length / runs / 8, to: 'promised' })
  record({ name: 'writes of a push', ratio: writes / runs / 2, to: 'promised' })
  record({ name: 'verdicts a minute', ratio: 35 / aMinute!, to: 'promised' })
  record({ name: 'verdicts an hour', ratio: 200 / inHour!, to: 'promised' })
  const byRoute = Map.groupBy(github.requests, ({ method, route }) => `${method} ${route}`)
  for (const [route, all] of [...byRoute].sort())
    console.log(`  ${(all.length / runs).toFixed(2)}  ${counted(all).toFixed(2)} count  ${route}`)
}

const processes = await openAppProcesses()
try {
  await acknowledge(processes)
  await verdicts(processes)
} finally {
  await processes.close()
}
