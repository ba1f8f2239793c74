import { BailiwickError } from '../errors.ts'

/**
 * Runs the main function of a process. Each invalid setting is one line on stderr, and the process exits with code 2; any other
 * error is a bug, and Node handles it.
 */
export async function runProcess(main: () => Promise<void>): Promise<void> {
  try {
    await main()
  } catch (error) {
    const all: readonly unknown[] = error instanceof AggregateError ? error.errors : [error]
    const known = all.filter(one => one instanceof BailiwickError)
    if (known.length < all.length) throw error
    process.stderr.write(known.map(lineOf).join(''))
    process.exit(2)
  }
}

function lineOf(error: BailiwickError): string {
  const fix = error.fix === undefined ? '' : ` ${sentence(error.fix)}`
  const what = fix === '' || /[.!?]$/.test(error.message) ? error.message : `${error.message}.`
  return `error[${error.code}]: ${what}${fix}\n`.replaceAll(/[\r\n]+(?!$)/g, ' ')
}

/** Capitalizes the first word, because the fix starts a new sentence here. */
const sentence = (fix: string) => fix.replace(/^[a-z](?=[a-z]* )/, first => first.toUpperCase())
