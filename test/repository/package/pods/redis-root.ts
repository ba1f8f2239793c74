import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Puts this machine's redis-server and redis-cli, with the libraries that they link to, into a folder that is the root of a container. */
export function redisRoot(root: string): string {
  const copy = (from: string, to: string) => {
    mkdirSync(dirname(join(root, to)), { recursive: true })
    cpSync(realpathSync(from), join(root, to))
  }
  for (const name of ['redis-server', 'redis-cli']) {
    const program = realpathSync(execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim())
    const linked = execFileSync('ldd', [program], { encoding: 'utf8' })
    copy(program, `/usr/bin/${name}`)
    for (const [, library] of linked.matchAll(/(?:=> )?(\/\S+) \(0x/g)) copy(library!, library!)
  }
  return root
}
