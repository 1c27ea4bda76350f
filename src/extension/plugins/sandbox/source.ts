// The sandbox's own code as text, to be run where nothing of this program is: functions that stand alone.
import { fixedClock } from './clock.ts'
import { tidyGlobals } from './globals.ts'
import { ownIntl } from './intl.ts'
import { keptLanguage } from './language.ts'
import { realm } from './realm.ts'

/**
 * An expression: a function of a RealmHost and of how far a zone is ahead of UTC at a time, which makes the sandbox
 * what it is to be and gives the Realm.
 */
export const REALM_SOURCE = `((host, zoneOffset) => {
const setClock = (${fixedClock})();
(${tidyGlobals})();
(${ownIntl})(zoneOffset);
return (${realm})(setClock, host, (${keptLanguage})());
})`
