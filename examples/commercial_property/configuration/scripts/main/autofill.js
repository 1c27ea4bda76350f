// Fills in the wind zone of each building from its county.

/** @type {Bindery.GetDataAutofill} */
function getDataAutofill(data) {
  const { addExposures, updateExposures } = data.updates
  return {
    ...(addExposures && { addExposures: addExposures.map(withWindZone) }),
    ...(updateExposures && { updateExposures: updateExposures.map(withWindZone) }),
  }
}

// Values of fields are lists of text. Exposures without a county stay unchanged.
function withWindZone(exposure) {
  const county = exposure.fieldValues?.county?.[0]
  if (county === undefined) return exposure
  const zone = socotraApi.tableLookup(0, 'county_wind_zone', county)
  return { ...exposure, fieldValues: { ...exposure.fieldValues, wind_zone: [zone] } }
}

exports.getDataAutofill = getDataAutofill
