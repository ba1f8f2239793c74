import { execFile, execFileSync } from 'node:child_process'
import type { Result } from './outcome.ts'
import { readOutput } from './read-output.ts'

const VERSION = 'v5.8.1'
/** It may reach neither git nor a network: what it would load from there must fail, and at once. */
const ENVIRONMENT = {
  PATH: '/nonexistent',
  HOME: '/nonexistent',
  HTTP_PROXY: 'http://127.0.0.1:9',
  HTTPS_PROXY: 'http://127.0.0.1:9',
}
const ARGS = ['build', '--load-restrictor', 'LoadRestrictionsNone', '--reorder', 'none']

/** Throws where `program` is not the version that Flux holds to: an other one's answers would prove nothing. */
export function checkVersion(program: string): void {
  const version = execFileSync(program, ['version'], { encoding: 'utf8' }).trim()
  if (version !== VERSION) throw new Error(`${program} is ${version}; the comparison needs kustomize ${VERSION}`)
}

/** What the real kustomize makes of a directory. */
export function runKustomize(program: string, directory: string): Promise<Result> {
  return new Promise(settle => {
    const options = { env: ENVIRONMENT, maxBuffer: 2 ** 29, timeout: 120_000 }
    execFile(program, [...ARGS, directory], options, (error, stdout, stderr) => {
      if (!error) settle({ objects: readOutput(stdout) })
      else if (/^panic: |^goroutine |^fatal error: /m.test(stderr)) settle({ crash: stderr.slice(0, 400) })
      else settle({ error: stderr.replace(/^(?:Flag --reorder|# Warning:) .*\n/gm, '') || String(error) })
    })
  })
}
