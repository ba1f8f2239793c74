import { once } from 'node:events'
import { findAssets, NO_ASSETS } from '../../../tools/envtest/assets.ts'
import { startStage } from '../../workers/story/stage.ts'
import { tellStory } from './story.ts'
import { tell } from './tell.ts'

// The whole of Bailiwick on this machine, embedded: GitHub is a server of ours, the queue is in process, and the cluster
// is a real API server where its programs are at hand.
const started = performance.now()
const withCluster = findAssets() !== undefined
tell.title('Bailiwick: every tenant of the fleet inside their own namespaces')
tell.note(
  withCluster
    ? 'GitHub: a server on this machine; cluster staging: a real kube-apiserver; queue: in process'
    : 'GitHub: a server on this machine; queue: in process',
)
const stage = await startStage({ clusters: withCluster ? ['staging'] : [] })
try {
  await stage.settle()
  await tellStory(stage)
  const left = withCluster ? '' : ` Nothing was applied: ${NO_ASSETS.replace(/^skipped: /, '')}`
  const { user, system } = process.cpuUsage()
  const [wall, cpu] = [(performance.now() - started) / 1000, (user + system) / 1e6]
  tell.title(`Done in ${wall.toFixed(1)} s (${cpu.toFixed(1)} s of CPU time).${left}`)
  if (process.argv.includes('--keep')) {
    tell.note(`Have a look: ${stage.site.url}/ and ${stage.site.url}/fleets/acme/fleet. Ctrl-C ends it.`)
    await Promise.race(['SIGINT', 'SIGTERM'].map(signal => once(process, signal)))
  }
} finally {
  await stage.close()
}
