import { parseArgs } from 'node:util'
import { openGitHub } from '../test/workers/story/stage.ts'
import type { FakeGitHub } from '../tools/github/start.ts'
import { type Crew, startCrew } from './soak/crew.ts'
import { differences, type EndState, endStateOf } from './soak/end-state.ts'
import { type Postman, pause, startPostman } from './soak/postman.ts'
import { type Chance, chance, REPOSITORY, type Step, storyOf } from './soak/story.ts'

// The same pushes in a calm world and in one where everything fails now and then. Both must end with the same words on
// every pull request; the exit code is 1 where they do not.
const { values } = parseArgs({
  options: {
    deliveries: { type: 'string' },
    pulls: { type: 'string' },
    seed: { type: 'string' },
    smoke: { type: 'boolean' },
  },
})
const DELIVERIES = Number(values.deliveries ?? (values.smoke ? 60 : 2_000))
const PULLS = Number(values.pulls ?? (values.smoke ? 5 : 40))
const SEED = Number(values.seed ?? 1)
const WORKERS = 2
const TROUBLE = 0.05
/** A sweep of the crew comes within this. */
const SWEEP_MS = 22_000
const ROUNDS = 6

async function openWorld(): Promise<FakeGitHub> {
  return openGitHub({ checkResponses: false, mergeabilityDelayMs: 0 })
}

function push(github: FakeGitHub, { branch, files }: Step): void {
  const isNew = !github.pullRequestsOf(REPOSITORY).some(pull => pull.head.ref === branch)
  const parent = isNew ? { parent: github.commitOf(REPOSITORY, 'main') } : {}
  github.push({ repo: REPOSITORY, branch, files, as: 'dora', ...parent })
  if (isNew) github.openPullRequest({ repo: REPOSITORY, head: branch, title: branch, as: 'dora' })
}

/** Nothing fails: the App starts when everything was pushed, and finds it by itself. */
async function calm(story: readonly Step[]): Promise<EndState> {
  const github = await openWorld()
  for (const step of story) push(github, step)
  const crew = await startCrew(github, WORKERS)
  try {
    return await settled(github, crew)
  } finally {
    await crew.close()
    await github.close()
  }
}

/** What a stormy run ended with, and what it went through. */
interface Wild {
  readonly end: EndState
  readonly figures: Readonly<Record<string, number>>
}

async function wild(story: readonly Step[]): Promise<Wild> {
  const github = await openWorld()
  const crew = await startCrew(github, WORKERS)
  const postman = await startPostman(crew.web, chance(SEED + 1))
  try {
    await pause(1_000)
    await crew.idle()
    github.forget()
    github.app.webhookUrl = postman.url
    const ended = github.trouble({ rate: TROUBLE, seed: SEED, kinds: ['500', '502', '403-retry-after', 'written-502'] })
    const storm = { kills: 0, restarts: 0, going: true }
    const trouble = Promise.all([killWorkers(crew, storm, chance(SEED + 2)), restartRedis(crew, storm)])
    const sent = await deliver(github, postman, story)
    storm.going = false
    await trouble
    ended.stop()
    const end = await settled(github, crew, postman)
    const figures = {
      ...sent,
      ...postman.carried,
      ...costs(github),
      failed: ended.failed,
      kills: storm.kills,
      restarts: storm.restarts,
    }
    return { end, figures }
  } finally {
    await postman.close()
    await crew.close()
    await github.close()
  }
}

/** Pushes until there were so many deliveries; the story is long enough. */
async function deliver(github: FakeGitHub, postman: Postman, story: readonly Step[]) {
  const start = performance.now()
  for (const step of story) {
    push(github, step)
    // the hooks of a push come at its pace, not all at once
    if (github.deliveries.length - postman.carried.deliveries > 50) await github.idle()
    await pause(20)
  }
  await github.idle()
  return { pushes: story.length, seconds: Math.round((performance.now() - start) / 1000) }
}

interface Storm {
  going: boolean
  kills: number
  restarts: number
}

async function killWorkers(crew: Crew, storm: Storm, next: Chance): Promise<void> {
  while (storm.going) {
    await pause(2_000 + next(5_000))
    if (!storm.going) return
    await crew.replaceWorker(next(crew.workers))
    storm.kills++
  }
}

async function restartRedis(crew: Crew, storm: Storm): Promise<void> {
  for (let time = 0; time < 2; time++) {
    await pause(values.smoke ? 2_000 : 15_000)
    await crew.redis.kill()
    await pause(1_000)
    await crew.redis.restart()
    storm.restarts++
  }
}

/** Waits until a whole sweep changed nothing any more. */
async function settled(github: FakeGitHub, crew: Crew, postman?: Postman): Promise<EndState> {
  let before: EndState | undefined
  for (let round = 0; round < ROUNDS; round++) {
    await pause(round === 0 ? 2_000 : SWEEP_MS)
    await postman?.idle()
    await github.idle()
    await crew.idle()
    const now = endStateOf(github)
    if (before && now.missing.length === 0 && differences(before, now).length === 0) return now
    before = now
  }
  return before!
}

/** What GitHub was asked for: an evaluation reads the check runs of its commit once, right before it says something. */
function costs(github: FakeGitHub): Record<string, number> {
  const counts = github.counts()
  const of = (route: string) => counts[route] ?? 0
  const created =
    of('POST /repos/{owner}/{repo}/check-runs') +
    of('POST /repos/{owner}/{repo}/issues/{issue_number}/comments') +
    of('POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews')
  return {
    requests: github.requests.length,
    created,
    evaluations: of('GET /repos/{owner}/{repo}/commits/{ref}/check-runs'),
  }
}

const story = storyOf(SEED, Math.ceil(DELIVERIES / 2), PULLS)
const quiet = await calm(story)
const stormy = await wild(story)
const differing = differences(quiet, stormy.end)
for (const [name, figure] of Object.entries(stormy.figures)) console.log(`${name}: ${figure}`)
const { created = 0, evaluations = 1 } = stormy.figures
console.log(`content-creating requests per evaluation: ${(created / evaluations).toFixed(2)}`)
console.log(
  `pull requests without a completed check: calm ${quiet.missing.length}, stormy ${stormy.end.missing.length}`,
)
console.log(`pull requests that say something else than in the calm world: ${differing.length} of ${quiet.said.size}`)
for (const branch of differing.slice(0, 5)) {
  console.log(
    `  ${branch}\n    calm:   ${quiet.said.get(branch)?.slice(0, 400)}\n    stormy: ${stormy.end.said.get(branch)?.slice(0, 400)}`,
  )
}
const isGood = differing.length === 0 && stormy.end.missing.length === 0 && created <= 2 * evaluations
process.exitCode = isGood ? 0 : 1
