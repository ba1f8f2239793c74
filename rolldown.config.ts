import { join } from 'node:path'
import { defineConfig } from 'rolldown'
import { bundleThreads } from './build/bundle-threads.ts'
import { collectLicenses } from './build/collect-licenses.ts'

/** The programs of the package and of the image; each loads the chunks that it needs, and nothing else. */
const PROGRAMS = {
  bailiwick: 'src/cli/bailiwick.js',
  main: 'src/cli/main.ts',
  web: 'src/index.ts',
  worker: 'workers/index.ts',
  setup: 'src/setup/index.ts',
  probe: 'src/web/probe.ts',
}

/** Native accelerators that their users load when they are installed; nothing installs them beside the bundle. */
const OPTIONAL = ['msgpackr-extract']

export default defineConfig({
  cwd: import.meta.dirname,
  input: PROGRAMS,
  platform: 'node',
  external: OPTIONAL,
  plugins: [bundleThreads(), collectLicenses(join(import.meta.dirname, 'node_modules'))],
  output: {
    dir: 'dist',
    cleanDir: true,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    // errors and logs name classes
    keepNames: true,
    sourcemap: true,
    // positions are what a stack trace needs; the sources are in the repository
    sourcemapExcludeSources: true,
  },
})
