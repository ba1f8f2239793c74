import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Puts this machine's redis-server, with the libraries that it links to, into a folder that is the root of a container. */
export function redisRoot(root: string): string {
  const program = realpathSync(execFileSync('sh', ['-c', 'command -v redis-server'], { encoding: 'utf8' }).trim())
  const linked = execFileSync('ldd', [program], { encoding: 'utf8' })
  const libraries = [...linked.matchAll(/(?:=> )?(\/\S+) \(0x/g)].map(([, path]) => path!)
  const copy = (from: string, to: string) => {
    mkdirSync(dirname(join(root, to)), { recursive: true })
    cpSync(realpathSync(from), join(root, to))
  }
  copy(program, '/usr/bin/redis-server')
  for (const library of libraries) copy(library, library)
  return root
}
