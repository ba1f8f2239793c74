import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { GeneratedFleet } from './generated-fleet.ts'
import { CLUSTERS } from './platform-files.ts'

/** How long kustomize takes for a fleet, and for which part of its directories that was measured. */
export interface KustomizeTime {
  readonly time: number
  readonly builds: number
  readonly measured: number
}

/**
 * What people run today: kustomize over every overlay and every base, one process each, on the disk. With `sample`, only
 * so many tenants are built, and the time of their directories is multiplied; the platform's are always built.
 */
export function kustomizeLoop(program: string, { fleet, tenants }: GeneratedFleet, sample: number): KustomizeTime {
  const scratch = mkdtempSync(join(tmpdir(), 'bench-verdict-'))
  try {
    const write = (directory: string, files: Iterable<readonly [string, string]>) => {
      for (const [path, text] of files) {
        const file = join(scratch, directory, path)
        mkdirSync(dirname(file), { recursive: true })
        writeFileSync(file, text)
      }
    }
    write('fleet', fleet)
    const chosen = [...tenants].slice(0, sample)
    for (const [url, files] of chosen) write(nameOf(url), files)
    const timed = (directory: string): number => {
      const start = performance.now()
      const args = ['build', '--load-restrictor', 'LoadRestrictionsNone', join(scratch, directory)]
      execFileSync(program, args, { stdio: 'pipe', maxBuffer: 2 ** 28 })
      return performance.now() - start
    }
    const platform = CLUSTERS.flatMap(name => [`clusters/${name}/flux-system`, `tenants/${name}`])
    const own = ['infrastructure', ...platform].map(path => timed(`fleet/${path}`))
    const perTenant = chosen.flatMap(([url]) =>
      [`fleet/tenants/base/${nameOf(url)}`, ...['base', ...CLUSTERS].map(path => `${nameOf(url)}/${path}`)].map(timed),
    )
    const sum = (times: readonly number[]) => times.reduce((all, time) => all + time, 0)
    const scale = tenants.size / chosen.length
    return {
      time: sum(own) + sum(perTenant) * scale,
      builds: own.length + perTenant.length * scale,
      measured: own.length + perTenant.length,
    }
  } finally {
    rmSync(scratch, { recursive: true })
  }
}

const nameOf = (url: string): string => url.slice(url.lastIndexOf('/') + 1)
