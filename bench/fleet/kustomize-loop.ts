import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { GeneratedFleet } from './generated-fleet.ts'
import { CLUSTERS } from './platform-files.ts'

/** How long kustomize takes for directories, and for how many of them that was measured. */
export interface KustomizeTime {
  readonly time: number
  readonly builds: number
  readonly measured: number
}

/** The directories of the fleet's own repository alone, and with those of the tenants' repositories. */
interface KustomizeTimes {
  readonly alone: KustomizeTime
  readonly all: KustomizeTime
}

/**
 * What people run today: kustomize over every overlay and every base, one process each, on the disk. With `sample`, only
 * so many tenants are built, and the time of their directories is multiplied; the platform's are always built.
 */
export function kustomizeLoop(program: string, { fleet, tenants }: GeneratedFleet, sample: number): KustomizeTimes {
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
    const once = timeOf(['infrastructure', ...platform].map(path => timed(`fleet/${path}`)))
    const scale = tenants.size / chosen.length
    const names = chosen.map(([url]) => nameOf(url))
    const bases = timeOf(
      names.map(name => timed(`fleet/tenants/base/${name}`)),
      scale,
    )
    const alone = sumOf(once, bases)
    const paths = names.flatMap(name => ['base', ...CLUSTERS].map(path => `${name}/${path}`))
    return { alone, all: sumOf(alone, timeOf(paths.map(timed), scale)) }
  } finally {
    rmSync(scratch, { recursive: true })
  }
}

function timeOf(times: readonly number[], scale = 1): KustomizeTime {
  const time = times.reduce((all, one) => all + one, 0) * scale
  return { time, builds: times.length * scale, measured: times.length }
}

function sumOf(a: KustomizeTime, b: KustomizeTime): KustomizeTime {
  return { time: a.time + b.time, builds: a.builds + b.builds, measured: a.measured + b.measured }
}

const nameOf = (url: string): string => url.slice(url.lastIndexOf('/') + 1)
