import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

/** Debian's package `chromium`. */
const PROGRAM = '/usr/bin/chromium'

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** Why there is no browser; undefined where there is one. CI must have it. */
export function noChromium(): string | undefined {
  if (existsSync(PROGRAM)) return undefined
  const why = `skipped: ${PROGRAM} is not there (apt-get install chromium)`
  if (process.env.CI_REQUIRE_ALL) throw new Error(why)
  return why
}

export function openChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: PROGRAM, args: FLAGS })
}
